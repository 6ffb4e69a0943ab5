/// Options and reports of commands that come from the table of settings.
@NullMarked
package io.penstock.node.option;

import org.jspecify.annotations.NullMarked;
