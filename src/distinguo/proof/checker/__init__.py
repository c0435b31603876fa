"""An independent check of certificates in ball arithmetic; shares no code with the prover."""
