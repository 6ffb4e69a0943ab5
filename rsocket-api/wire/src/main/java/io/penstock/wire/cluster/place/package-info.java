/// Which members of a cluster get new blocks.
@NullMarked
package io.penstock.wire.cluster.place;

import org.jspecify.annotations.NullMarked;
