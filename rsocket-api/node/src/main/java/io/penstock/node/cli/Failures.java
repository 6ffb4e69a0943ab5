package io.penstock.node.cli;

import io.penstock.KvException;
import io.penstock.wire.ConnectionLostException;
import io.penstock.wire.ErrorCode;
import io.penstock.wire.RemoteTransientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/// Turns what a command throws into a line on standard error and an exit code.
public final class Failures implements IExecutionExceptionHandler, IParameterExceptionHandler {
  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    int code = code(failure);
    String message = failure.getMessage() == null ? failure.getClass().getName() : failure.getMessage();
    message.lines().forEach(line -> err.println(command.getCommandName() + ": " + line));
    if (code == ExitCode.INTERNAL) {
      failure.printStackTrace(err);
    }
    err.flush();
    return code;
  }

  @Override
  public int handleParseException(ParameterException failure, String[] arguments) {
    CommandLine command = failure.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(command.getCommandName() + ": " + failure.getMessage());
    CommandLine.UnmatchedArgumentException.printSuggestions(failure, err);
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help' for more.");
    err.flush();
    return ExitCode.USAGE;
  }

  private static int code(Exception failure) {
    return switch (failure) {
      case UnavailableException e -> ExitCode.UNAVAILABLE;
      case ConnectionLostException e -> ExitCode.UNAVAILABLE;
      case RemoteTransientException e when e.code() == ErrorCode.DRAINING.code() -> ExitCode.UNAVAILABLE;
      case IllegalArgumentException e -> ExitCode.USAGE;
      case KvException e -> ExitCode.FOUND_FAILURE;
      case IOException e -> ExitCode.INPUT_OUTPUT;
      case UncheckedIOException e -> ExitCode.INPUT_OUTPUT;
      default -> ExitCode.INTERNAL;
    };
  }
}
