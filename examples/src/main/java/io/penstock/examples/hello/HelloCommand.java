package io.penstock.examples.hello;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock example hello`.
@Command(name = "hello", description = "Puts one block into a node and gets it back, over TCP, in one process.",
    mixinStandardHelpOptions = true)
public final class HelloCommand implements Callable<Integer> {
  private final Console console;

  public HelloCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    Scheduler timers = Schedulers.newSingle("hello-timers");
    LoopResources loops = LoopResources.create("hello", 1, true);
    try {
      long bytes = Hello.putAndGet(loops, timers).blockOptional(Duration.ofSeconds(30)).orElseThrow();
      console.print("hello: 1 block, " + bytes + " bytes, put and got back");
      return ExitCode.OK;
    } finally {
      timers.dispose();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(5));
    }
  }
}
