package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import reactor.core.Exceptions;

final class FailuresTest {
  @Command(name = "fail")
  private record Failing(Throwable failure) implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
      if (failure instanceof Error error) {
        throw error;
      }
      throw (Exception) failure;
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(new TransientKvException("later"), 1, "fail: later\n"),
        Arguments.of(new IllegalArgumentException("one\ntwo"), 2, "fail: one\nfail: two\n"),
        Arguments.of(new UnavailableException("no node", new IOException()), 69, "fail: no node\n"),
        Arguments.of(new IOException("disk"), 74, "fail: disk\n"),
        Arguments.of(new UncheckedIOException(new IOException("disk")), 74, "fail: disk\n"),
        Arguments.of(new UncheckedIOException(new NoSuchFileException("/nonexistent")), 74,
            "fail: /nonexistent must exist (no such file)\n"),
        Arguments.of(new NoSuchFileException("/no-such-folder/x"), 74,
            "fail: /no-such-folder/x must be in a folder that exists (no such folder)\n"),
        Arguments.of(new AccessDeniedException("/x"), 74, "fail: /x must be open to this user (permission denied)\n"),
        Arguments.of(new FileSystemException("/x", null, "No space left on device"), 74,
            "fail: /x must be usable (No space left on device)\n"),
        Arguments.of(Exceptions.propagate(new IOException("connect(..) failed with error(-111): Connection refused")),
            74,
            "fail: Connection refused\n"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void failure_hasItsExitCodeAndALineWithoutAStackTrace(Exception failure, int code, String said) {
    StringWriter err = new StringWriter();

    assertThat(line(failure, err).execute()).isEqualTo(code);
    assertThat(err).hasToString(said);
  }

  @Test
  void error_is70AndOneSentence() {
    StringWriter err = new StringWriter();

    assertThat(line(new OutOfMemoryError("Java heap space"), err).execute()).isEqualTo(70);
    assertThat(err).hasToString("fail: memory is exhausted (Java heap space)\n");
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void mistakeOfOurs_is70AndShowsWhere(Exception failure) {
    StringWriter err = new StringWriter();

    assertThat(line(failure, err).execute()).isEqualTo(70);
    assertThat(err.toString()).contains(failure.getClass().getName(), "at io.penstock.node.cli.FailuresTest");
  }

  static Stream<Exception> mistakes() {
    return Stream.of(new IllegalStateException(), new NullPointerException("null"));
  }

  private static CommandLine line(Throwable failure, StringWriter err) {
    Failures failures = new Failures(Console.ofProcess());
    return new CommandLine(new Failing(failure)).setExecutionStrategy(failures).setExecutionExceptionHandler(failures)
        .setErr(new PrintWriter(err, true));
  }
}
