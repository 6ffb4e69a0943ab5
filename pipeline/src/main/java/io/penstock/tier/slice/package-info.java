/// How a window is cut into slices, and where slices land: what a stack of tiers and a connection share.
@NullMarked
package io.penstock.tier.slice;

import org.jspecify.annotations.NullMarked;
