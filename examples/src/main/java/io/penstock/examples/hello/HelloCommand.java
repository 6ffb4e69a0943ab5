package io.penstock.examples.hello;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import reactor.core.publisher.Mono;

/// `penstock example hello`.
@Command(name = "hello",
    description = "Offloads the KV cache of a prompt into a node and loads it again, over TCP, in one process.",
    mixinStandardHelpOptions = true)
public final class HelloCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public HelloCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    int tokens;
    try (TierRecording recording = record.begin("")) {
      tokens = Mono.from(RecordOptions.<Integer>flow(recording, "offload and load").apply(Hello.offloadAndLoad()))
          .blockOptional(Duration.ofSeconds(30)).orElseThrow();
    }
    console.print("hello: " + tokens + " tokens offloaded and loaded again, every byte equal");
    return ExitCode.OK;
  }
}
