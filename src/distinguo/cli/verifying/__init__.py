"""The parts of ``distinguo verify``: what is verified, and the three kinds of answer."""
