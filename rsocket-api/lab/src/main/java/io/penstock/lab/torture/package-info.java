/// Proof by killing: a process that writes to a disk level is ended over and over, and what it was promised is looked
/// for.
@NullMarked
package io.penstock.lab.torture;

import org.jspecify.annotations.NullMarked;
