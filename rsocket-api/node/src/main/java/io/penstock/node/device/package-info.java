/// Commands that look at accelerators and try their copies.
@NullMarked
package io.penstock.node.device;

import org.jspecify.annotations.NullMarked;
