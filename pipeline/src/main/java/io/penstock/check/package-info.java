/// Checks of arguments and of bytes; JDK only. Shared among the modules of this project.
@NullMarked
package io.penstock.check;

import org.jspecify.annotations.NullMarked;
