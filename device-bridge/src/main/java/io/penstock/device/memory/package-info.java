/// Large pieces of host memory and their kinds of pages; pools of host and device memory.
@NullMarked
package io.penstock.device.memory;

import org.jspecify.annotations.NullMarked;
