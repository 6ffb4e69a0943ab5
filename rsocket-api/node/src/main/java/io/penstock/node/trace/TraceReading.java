package io.penstock.node.trace;

import io.penstock.node.cli.Console;
import io.penstock.node.trace.TraceOptions.TurnForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/// The options of a command that reads a trace, and the way to open it.
public final class TraceReading {
  /// Words of the help about the file.
  public static final String FORMS =
      "JSONL in the Mooncake, Qwen-Bailian or AIPerf form, also packed with gzip; - for standard input";

  private static final String STANDARD_INPUT = "-";

  @Option(names = "--skip-bad", paramLabel = "N",
      description = "With TRACE: maximum number of lines that break the form; they are skipped and counted"
          + " (default: 0).")
  private @Nullable Integer skipBad;

  @Option(names = "--turns", paramLabel = "FORM", converter = Form.class,
      description = "With TRACE: blocks that later lines of a session list: whole for all of the prompt, new for those"
          + " since the line before (default: as the ids tell).")
  private @Nullable TurnForm turns;

  /// Reads a form in lower case.
  static final class Form implements ITypeConverter<TurnForm> {
    @Override
    public TurnForm convert(String text) {
      for (TurnForm form : TurnForm.values()) {
        if (form.name().toLowerCase(Locale.ROOT).equals(text)) {
          return form;
        }
      }
      throw new IllegalArgumentException("--turns must be one of whole, new (was " + text + ")");
    }
  }

  /// Refuses these options where no trace is read.
  public void requireNone(String reason) {
    requireLeftOut("--skip-bad", skipBad, reason);
    requireLeftOut("--turns", turns, reason);
  }

  private static void requireLeftOut(String option, @Nullable Object value, String reason) {
    if (value != null) {
      throw new IllegalArgumentException(option + " must be left out " + reason + " (was "
          + value.toString().toLowerCase(Locale.ROOT) + ")");
    }
  }

  /// Opens `file`, or standard input for `-`.
  ///
  /// @throws UncheckedIOException if it cannot be read
  public TraceReader open(Path file, Console console) {
    TraceOptions options = new TraceOptions(skipBad == null ? 0 : skipBad, turns, console::say);
    try {
      return isStandardInput(file)
          ? new TraceReader(name(file), TraceStream.unpacked(name(file), console.in()), options)
          : TraceReader.open(file, options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Name of a trace for a person.
  public static String name(Path file) {
    return isStandardInput(file) ? "standard input" : file.toString();
  }

  private static boolean isStandardInput(Path file) {
    return file.toString().equals(STANDARD_INPUT);
  }
}
