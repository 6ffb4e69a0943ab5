package io.penstock.examples;

import io.penstock.node.cli.Console;
import java.util.concurrent.Callable;
import java.util.function.Function;

/// One runnable example.
///
/// @param name name on the command line
/// @param line one line about it
/// @param command makes the command that runs it, a picocli `@Command` whose answer is the exit code
record Story(String name, String line, Function<Console, Callable<Integer>> command) {}
