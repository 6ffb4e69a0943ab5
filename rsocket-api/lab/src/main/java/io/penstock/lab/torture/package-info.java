/// Proof by killing: a process that writes to a disk level is killed again and again, and its promises are checked.
@NullMarked
package io.penstock.lab.torture;

import org.jspecify.annotations.NullMarked;
