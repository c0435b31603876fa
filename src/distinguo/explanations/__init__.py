"""Why states are kept apart: reasons in words and figures, and the family of the regions."""
