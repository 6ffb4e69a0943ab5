package io.penstock.examples.pipe;

import io.penstock.check.Checks;
import io.penstock.check.InternetAddress;
import io.penstock.examples.process.OtherJvm;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock example pipe`.
@Command(name = "pipe", mixinStandardHelpOptions = true,
    description = "Starts a second process, receives tensors from it through a pipe, in order, and compares every byte."
        + " Or is one end of a pipe whose other end is started by hand, with the same size and seed.",
    footer = {"", "Examples:", "  penstock example pipe --size 512MB", "  penstock example pipe --send 7001",
      "  penstock example pipe --receive localhost:7001"})
public final class PipeCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final long MIB = 1 << 20;

  private final Console console;

  @Option(names = "--size", paramLabel = "SIZE", converter = SizeOption.class,
      description = "About how much to send (default: ${DEFAULT-VALUE}).",
      defaultValue = "256MiB")
  private long size;

  @Option(names = "--seed", paramLabel = "N",
      description = "Seed of the tensors (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--send", paramLabel = "PORT", description = "Be the sending end; 0 takes a free port and prints it.")
  private @Nullable Integer send;

  @Option(names = "--receive", paramLabel = "HOST:PORT", description = "Be the receiving end.")
  private @Nullable String receive;

  @Option(names = "--json", description = "Prints the result as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public PipeCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (send != null && receive != null) {
      throw new IllegalArgumentException("one of --send and --receive must be given (was both)");
    }
    Checks.positive("--size", size);
    TensorSequence sequence = TensorSequence.ofBytes(seed, size);
    Scheduler timers = Schedulers.newSingle("pipe-timers");
    LoopResources loops = LoopResources.create("pipe", 1, true);
    try (TierRecording recording = record.begin("")) {
      if (send != null) {
        return send(send, sequence, loops, timers, recording);
      }
      return receive != null
          ? receive(TcpClientOptions.to(InternetAddress.parse(receive)), sequence, loops, recording)
          : both(sequence, loops, recording);
    } finally {
      timers.dispose();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(5));
    }
  }

  /// The other end is a second JVM, which says on its first line where it listens.
  private int both(TensorSequence sequence, LoopResources loops, @Nullable TierRecording recording)
      throws IOException, InterruptedException {
    console.say("pipe: starting a second process, which sends " + Plural.of(sequence.count(), "tensor") + ", "
        + Sizes.human(sequence.bytes()));
    Process other = OtherJvm.start(List.of(),
        List.of("pipe", "--send", "0", "--size", String.valueOf(size), "--seed", Long.toString(seed)));
    try (BufferedReader lines = other.inputReader()) {
      String line = lines.readLine();
      if (line == null) {
        throw new IOException(
            "second process must say where it listens (was ended with exit code " + other.waitFor() + ")");
      }
      int code = receive(TcpClientOptions.to(InternetAddress.parse(line.substring(line.lastIndexOf(' ') + 1))),
          sequence, loops, recording);
      boolean ended = other.waitFor(30, TimeUnit.SECONDS);
      return ended && other.exitValue() == ExitCode.OK ? code : ExitCode.FOUND_FAILURE;
    } finally {
      other.destroyForcibly();
    }
  }

  private int send(int port, TensorSequence sequence, LoopResources loops, Scheduler timers,
      @Nullable TierRecording recording) {
    SendingEnd end = TensorPipe.listen(TcpServerOptions.on("127.0.0.1", port), PipeOptions.defaults(), loops, timers)
        .blockOptional(PATIENCE).orElseThrow();
    InetSocketAddress address = (InetSocketAddress) end.address();
    console.print("pipe: listening on " + Endpoint.place(address));
    try {
      end.send(Flux.from(RecordOptions.<Tensor>flow(recording, "sent").apply(sequence.tensors()))).block(PATIENCE);
    } finally {
      end.close().block(PATIENCE);
    }
    console.print("pipe: sent " + Plural.of(sequence.count(), "tensor") + ", " + Plural.of(sequence.bytes(), "byte"));
    return ExitCode.OK;
  }

  private int receive(TcpClientOptions where, TensorSequence sequence, LoopResources loops,
      @Nullable TierRecording recording) {
    PipeOutcome outcome = compared(where, sequence, loops, recording);
    if (json) {
      console.json(outcome);
    } else {
      console.print(String.format(Locale.ROOT, "pipe: %s, %s, %s wrong, %s leaked, %.2f GB/s",
          Plural.of(outcome.tensors(), "tensor"),
          Sizes.human(outcome.bytes()), Numbers.of(outcome.wrong()), Numbers.of(outcome.leakedChunks()),
          outcome.bytesPerSecond() / 1e9));
    }
    return outcome.isGood(sequence) ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private PipeOutcome compared(TcpClientOptions where, TensorSequence sequence, LoopResources loops,
      @Nullable TierRecording recording) {
    long all = sequence.bytes();
    try (Progress progress = Progress.of(console, "pipe", "MiB", MIB)) {
      progress.next("receiving, and making every byte again to compare");
      return TensorPipe.connect(where, PipeOptions.defaults(), loops)
          .flatMap(end -> Mono.usingWhen(Mono.just(end), new Comparing(sequence, done -> progress.at(done, all),
              RecordOptions.flow(recording, "received"))::from,
              ReceivingEnd::close))
          .blockOptional(PATIENCE).orElseThrow();
    }
  }
}
