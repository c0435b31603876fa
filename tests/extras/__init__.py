"""What needs the extra ``others``: skipped without its packages; ``.ci/run`` has an environment with them."""
