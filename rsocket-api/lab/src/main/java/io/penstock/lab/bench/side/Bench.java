package io.penstock.lab.bench.side;

import io.penstock.KvException;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// The shape of all benches: a command that runs its loads and shows what they gave, as a table or as JSON.
///
/// It ends with 1 if a byte is wrong or a target is missed. That nothing could be measured is no bad figure, and has
/// another exit code.
///
/// @param <R> what a bench found
public abstract class Bench<R extends Bench.Report> implements Callable<Integer> {
  /// What a bench found: a record, which is also its JSON.
  public interface Report {
    /// For a reader.
    String table();

    /// Whether every target was met.
    default boolean meetsTargets() {
      return true;
    }
  }

  protected final Console console;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Option(names = "--json", description = "Print the figures as JSON instead of a table.")
  private boolean json;

  protected Bench(Console console) {
    this.console = console;
  }

  /// Runs the loads.
  ///
  /// @return null if there is nothing to show
  /// @throws KvException if a store does not take or give blocks
  protected abstract @Nullable R measured() throws IOException;

  /// Called once the figures have been shown; writes what the user asked for besides.
  protected void shown(R report) throws IOException {}

  @Override
  public final Integer call() throws IOException {
    R report;
    try {
      report = measured();
    } catch (WrongBytesException e) {
      console.say(spec.parent().name() + " " + spec.name() + ": " + e.getMessage());
      return ExitCode.FOUND_FAILURE;
    } catch (KvException e) {
      throw new IOException(Reason.after("nothing could be measured", e), e);
    }
    if (report == null) {
      return ExitCode.OK;
    } else if (json) {
      console.json(report);
    } else {
      console.out().print(report.table());
    }
    console.requireHeard();
    shown(report);
    return report.meetsTargets() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
