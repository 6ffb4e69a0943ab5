package io.penstock.examples.hello;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// `penstock example hello`.
@Command(name = "hello",
    description = "Offloads the KV cache of a prompt into a node and loads it again, over TCP, in one process.",
    mixinStandardHelpOptions = true)
public final class HelloCommand implements Callable<Integer> {
  private final Console console;

  public HelloCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    int tokens = Hello.offloadAndLoad().blockOptional(Duration.ofSeconds(30)).orElseThrow();
    console.print("hello: " + tokens + " tokens offloaded and loaded again, every byte equal");
    return ExitCode.OK;
  }
}
