package io.penstock.node.cli;

import io.penstock.KvException;
import io.penstock.device.ascend.failure.LibraryMismatchException;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.node.text.Reason;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.record.RecordVersionException;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.security.TlsFailedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;
import reactor.core.Exceptions;

/// Turns the exception of a command into a line on standard error and an exit code.
public final class Failures implements IExecutionExceptionHandler, IParameterExceptionHandler, IExecutionStrategy {
  private final Console console;

  public Failures(Console console) {
    this.console = console;
  }

  /// Runs the command, which is no success if its results got lost; an `Error` goes the way of exceptions, too, which
  /// picocli does not do by itself.
  @Override
  public int execute(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    if (last.commandSpec().helpCommand() && !last.unmatched().isEmpty()) { // which picocli passes over
      throw new UnmatchedArgumentException(last.commandSpec().commandLine(), last.unmatched());
    }
    try {
      int code = new CommandLine.RunLast().execute(parsed);
      if (code == ExitCode.OK) { // it may not have looked, and help does not
        console.requireHeard();
      }
      return code;
    } catch (UncheckedIOException e) {
      throw new ExecutionException(last.commandSpec().commandLine(), e.getMessage(), e);
    } catch (Error e) {
      throw new ExecutionException(last.commandSpec().commandLine(), e.toString(), e);
    }
  }

  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    Throwable cause = failure instanceof ExecutionException && failure.getCause() instanceof Error error
        ? error
        : Exceptions.unwrap(failure);
    int code = code(cause);
    Reason.of(cause).lines()
        .forEach(line -> err.println(console.fitted(name(command) + ": " + Reason.printable(line))));
    if (code == ExitCode.INTERNAL && cause instanceof Exception) {
      cause.printStackTrace(err);
    }
    err.flush();
    return code;
  }

  @Override
  public int handleParseException(ParameterException found, String[] arguments) {
    ParameterException failure = Complaint.first(found);
    CommandLine command = failure.getCommandLine();
    PrintWriter err = command.getErr();
    Complaint.of(failure).lines()
        .forEach(line -> err.println(console.fitted(name(command) + ": " + Reason.printable(line))));
    Complaint.nearest(failure).ifPresent(err::println);
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help' for more.");
    err.flush();
    return ExitCode.USAGE;
  }

  /// Name of a command as it was called, without `penstock` in front.
  private static String name(CommandLine command) {
    CommandSpec spec = command.getCommandSpec();
    return spec.parent() == null
        ? spec.qualifiedName()
        : spec.qualifiedName().substring(spec.root().name().length() + 1);
  }

  private static int code(Throwable failure) {
    return switch (failure) {
      case RefusedException e -> ExitCode.REFUSED;
      case RemotePermanentException e when e.code() == ErrorCode.FORBIDDEN.code() -> ExitCode.REFUSED;
      case UnavailableException e -> ExitCode.UNAVAILABLE;
      case ConnectionLostException e -> ExitCode.UNAVAILABLE;
      case DrainingException e -> ExitCode.UNAVAILABLE;
      case TlsFailedException e -> ExitCode.UNAVAILABLE;
      case RemoteTransientException e when e.code() == ErrorCode.DRAINING.code() -> ExitCode.UNAVAILABLE;
      case HostMemoryRefusedException e -> ExitCode.UNAVAILABLE;
      case LibraryMismatchException e -> ExitCode.UNAVAILABLE;
      case IllegalArgumentException e -> ExitCode.USAGE;
      case DataException e -> ExitCode.DATA;
      case RecordingFormatException e -> ExitCode.DATA;
      case DirectoryLockedException e -> ExitCode.INPUT_OUTPUT;
      case EngineUnavailableException e -> ExitCode.INPUT_OUTPUT;
      case JournalFormatException e -> ExitCode.INPUT_OUTPUT;
      case RecordVersionException e -> ExitCode.INPUT_OUTPUT;
      case StorageFullException e -> ExitCode.INPUT_OUTPUT;
      case StorageFailedException e -> ExitCode.INPUT_OUTPUT;
      case KvException e -> ExitCode.FOUND_FAILURE;
      case IOException e -> ExitCode.INPUT_OUTPUT;
      case UncheckedIOException e -> ExitCode.INPUT_OUTPUT;
      default -> ExitCode.INTERNAL;
    };
  }
}
