/// More blocks than memory holds, put as fast as they are accepted: the disk sets the pace, no put is refused and no
/// block is lost.
@NullMarked
package io.penstock.examples.pressure;

import org.jspecify.annotations.NullMarked;
