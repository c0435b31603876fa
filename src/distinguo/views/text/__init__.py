"""A run as text: a coarse map for the terminal, and tables of its regions and reasons."""

from distinguo.views.text.policy_map import letters_of, text_map
from distinguo.views.text.reasons import reasons_table
from distinguo.views.text.regions import MOST_REGIONS, regions_table
from distinguo.views.text.sheet import COLUMNS, ROWS, sheet_of

__all__ = [
    "COLUMNS",
    "MOST_REGIONS",
    "ROWS",
    "letters_of",
    "reasons_table",
    "regions_table",
    "sheet_of",
    "text_map",
]
