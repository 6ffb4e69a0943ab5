/// Blocks in device memory: copies between host blocks and the memory of an accelerator, on threads that
/// belong to one device. The only module that may link native functions.
@NullMarked
package io.penstock.device;

import org.jspecify.annotations.NullMarked;
