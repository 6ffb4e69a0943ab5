package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

final class FailuresTest {
  @Command(name = "fail")
  private record Failing(Exception failure) implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
      throw failure;
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(new TransientKvException("later"), 1, "fail: later\n"),
        Arguments.of(new IllegalArgumentException("one\ntwo"), 2, "fail: one\nfail: two\n"),
        Arguments.of(new UnavailableException("nobody", new IOException()), 69, "fail: nobody\n"),
        Arguments.of(new IOException("disk"), 74, "fail: disk\n"),
        Arguments.of(new UncheckedIOException(new IOException("disk")), 74, "fail: java.io.IOException: disk\n"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void failure_hasItsExitCodeAndALineWithoutAStackTrace(Exception failure, int code, String said) {
    StringWriter err = new StringWriter();

    assertThat(line(failure, err).execute()).isEqualTo(code);
    assertThat(err).hasToString(said);
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

  private static CommandLine line(Exception failure, StringWriter err) {
    return new CommandLine(new Failing(failure)).setExecutionExceptionHandler(new Failures()).setErr(new PrintWriter(err, true));
  }
}
