package io.penstock.node.config;

/// A value that the file gives for a setting of one space.
record SpaceGiven(String space, Given given) {}
