"""Is Python 2."""


def greet(name):
    print "Hello, " + name
