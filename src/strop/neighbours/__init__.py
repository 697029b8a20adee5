"""Other people's formats and protocols, one small file each. Their packages are no part of Strop's environment: a file
here is imported by the neighbour, or asked for by name.
"""
