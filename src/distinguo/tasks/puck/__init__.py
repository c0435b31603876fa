"""The puck-on-a-hill task of section 4: dynamics, analysis, Gymnasium environment."""
