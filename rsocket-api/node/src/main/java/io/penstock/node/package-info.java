/// The runnable node: configuration, command line, admin endpoints, and the assembly of tiers, devices and
/// wire into one process.
@NullMarked
package io.penstock.node;

import org.jspecify.annotations.NullMarked;
