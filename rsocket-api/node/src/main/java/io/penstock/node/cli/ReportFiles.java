package io.penstock.node.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/// The option `--report` of every command that writes reports: a page with charts where the name ends in `.html`, else
/// JSON.
public final class ReportFiles {
  private static final String FLAG = "--report";

  @Option(names = FLAG, paramLabel = "FILE",
      description = "Write a report there: a page with charts if the name ends in .html, else JSON. May be repeated.")
  private List<Path> files = List.of();

  private List<OutputFile> pages = List.of();
  private List<OutputFile> documents = List.of();

  /// Finds out whether the files can be written, before the work.
  ///
  /// @throws IOException if one cannot
  public void require() throws IOException {
    pages = outputs(true);
    documents = outputs(false);
  }

  private List<OutputFile> outputs(boolean html) throws IOException {
    List<OutputFile> outputs = new ArrayList<>();
    for (Path file : files) {
      if (isPage(file) == html) {
        outputs.add(OutputFile.of(FLAG, file));
      }
    }
    return outputs;
  }

  private static boolean isPage(Path file) {
    return file.toString().endsWith(".html");
  }

  /// Whether a report is wanted.
  public boolean hasFiles() {
    return !files.isEmpty();
  }

  /// Whether a page is wanted.
  public boolean hasPages() {
    return !pages.isEmpty();
  }

  /// Writes the wanted reports and names them.
  ///
  /// @param json of the report
  /// @param page made if one is wanted
  public void write(Console console, String json, Supplier<String> page) {
    documents.forEach(file -> write(console, file, json));
    if (hasPages()) {
      String html = page.get();
      pages.forEach(file -> write(console, file, html));
    }
  }

  private static void write(Console console, OutputFile file, String content) {
    try {
      file.write(content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    console.say("report in " + file);
  }
}
