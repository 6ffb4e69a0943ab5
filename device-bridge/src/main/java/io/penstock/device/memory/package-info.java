/// Large pieces of host memory: where they come from, how large their pages are, who gives them back.
@NullMarked
package io.penstock.device.memory;

import org.jspecify.annotations.NullMarked;
