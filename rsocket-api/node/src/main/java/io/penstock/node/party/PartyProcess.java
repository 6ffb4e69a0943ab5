package io.penstock.node.party;

import io.penstock.node.cli.OwnCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A party in a process of its own. Its lines for people go to a log file; standard input and output carry the control
/// lines.
///
/// It dies with this process: when this one ends, in any way, the pipe to its standard input breaks, and that ends it.
final class PartyProcess {
  private static final Duration GRACE = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final Path log;
  private volatile boolean stopping;

  private PartyProcess(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  /// Starts `penstock` with `arguments`.
  ///
  /// @param folder where its log goes
  static PartyProcess start(String name, List<String> arguments, Path folder) throws IOException {
    Path log = folder.resolve(name + ".log");
    Process process = new ProcessBuilder(OwnCommand.of(arguments)).redirectError(log.toFile()).start();
    return new PartyProcess(name, process, log);
  }

  String name() {
    return name;
  }

  long pid() {
    return process.pid();
  }

  /// The line over which it is driven; for one user, instead of [#firstLine()].
  ControlLine line() {
    return new ControlLine(process.getInputStream(), process.getOutputStream());
  }

  /// Runs `work`, which waits for output of the process, on a thread of its own.
  void onThread(Runnable work) {
    Thread.ofPlatform().daemon().name("penstock-" + name).start(work);
  }

  /// The first line that it prints, then nothing more is read; fails if it ends without one.
  Mono<String> firstLine() {
    return Mono.create(sink -> onThread(() -> {
      try {
        String line =
            new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (line == null) {
          sink.error(new PartyGoneException(name, how()));
        } else {
          sink.success(line);
        }
      } catch (IOException e) {
        sink.error(new PartyGoneException(name, e + "; " + how()));
      }
    }));
  }

  /// Fails when it ends unasked; never completes.
  Mono<Void> lost() {
    return Mono.fromFuture(process::onExit, true)
        .flatMap(ended -> stopping ? Mono.never() : Mono.error(new PartyGoneException(name, how())));
  }

  /// How the process ended, and where to read more.
  String how() {
    try {
      String state = process.waitFor(1, TimeUnit.SECONDS) ? "exit code " + process.exitValue() : "silent";
      return state + ", log " + log;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "log " + log;
    }
  }

  /// Asks it to end, and makes it end when it does not. Lazy and idempotent.
  ///
  /// @param timers for the grace between the two
  Mono<Void> stop(Scheduler timers) {
    return Mono.defer(() -> {
      stopping = true;
      process.toHandle().destroy(); // the process itself would close the pipes first
      return Mono.fromFuture(process::onExit, true).timeout(GRACE, Mono.fromSupplier(process::destroyForcibly), timers)
          .then(Mono.fromFuture(process::onExit, true)).then();
    });
  }
}
