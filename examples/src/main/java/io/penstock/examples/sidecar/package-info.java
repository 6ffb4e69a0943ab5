/// One process has a device, another one moves blocks to it and back through a side-car.
@NullMarked
package io.penstock.examples.sidecar;

import org.jspecify.annotations.NullMarked;
