"""The learner ``teacher``: a trained network, distilled into a small map."""
