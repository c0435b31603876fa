"""A learner, a representation and a command for distinguo: pip install examples/own_package"""
