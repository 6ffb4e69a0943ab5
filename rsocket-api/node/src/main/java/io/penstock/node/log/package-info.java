/// What the log of a process writes: a peer decides neither how much nor in which characters.
@NullMarked
package io.penstock.node.log;

import org.jspecify.annotations.NullMarked;
