/// Building blocks of operators that Reactor lacks. Shared among the modules of this project.
@NullMarked
package io.penstock.operator;

import org.jspecify.annotations.NullMarked;
