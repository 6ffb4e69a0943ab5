/// What all commands share: the console, exit codes, progress, files and failures.
@NullMarked
package io.penstock.node.cli;

import org.jspecify.annotations.NullMarked;
