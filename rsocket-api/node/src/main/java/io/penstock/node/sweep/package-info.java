/// `penstock sweep`: hits of each eviction policy at each capacity, on a trace and without a byte of payload.
@NullMarked
package io.penstock.node.sweep;

import org.jspecify.annotations.NullMarked;
