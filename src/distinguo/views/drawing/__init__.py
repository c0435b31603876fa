"""What all drawings share: colours, and the sizes of letters, lines and figures."""
