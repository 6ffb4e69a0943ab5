/// The C library of Linux, bound once: what the JDK has no call for. Start with [CLibrary].
@NullMarked
package io.penstock.device.system;

import org.jspecify.annotations.NullMarked;
