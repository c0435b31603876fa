"""Every file that is read comes through here: nothing in it runs, and none takes more room than its kind may."""
