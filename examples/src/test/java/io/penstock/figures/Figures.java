package io.penstock.figures;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/// Prints what the repository has, or what two versions of it have, side by side. `.ci/figures` calls it.
public final class Figures {
  private static final List<String> MODULES =
      List.of("pipeline", "rsocket-api/wire", "rsocket-api/node", "rsocket-api/lab", "storage-tier", "device-bridge",
          "examples");

  private final List<Path> roots;
  private final List<GoneWord> words;
  private final PrintStream out;

  private Figures(List<Path> roots, List<GoneWord> words, PrintStream out) {
    this.roots = roots;
    this.words = words;
    this.out = out;
  }

  /// @param args folders of one or more versions; the last one's list of words counts for all
  public static void main(String[] args) throws IOException {
    List<Path> roots = List.of(args).stream().map(Path::of).toList();
    new Figures(roots, GoneWord.of(roots.getLast()), System.out).print();
  }

  private void print() throws IOException {
    List<Map<String, ModuleFigures>> modules = new ArrayList<>();
    for (Path root : roots) {
      Map<String, ModuleFigures> found = new TreeMap<>();
      for (String module : MODULES) {
        found.put(module, ModuleFigures.of(root, root.resolve(module), words));
      }
      modules.add(found);
    }
    String format = "%-18s %18s %14s %12s %12s %12s %12s %12s%n";
    out.printf(format, "", "", "", "public types", "of authors", "of our", "", "");
    out.printf(format, "", "main lines", "types", "for users", "of tiers", "modules", "lines > 120", "gone words");
    for (String module : MODULES) {
      List<ModuleFigures> all = modules.stream().map(found -> found.get(module)).toList();
      out.printf(format, module, row(all, ModuleFigures::lines), row(all, ModuleFigures::types),
          row(all, ModuleFigures::forUsers), row(all, ModuleFigures::forAuthors), row(all, ModuleFigures::shared),
          row(all, ModuleFigures::longLines), row(all, ModuleFigures::goneWords));
    }
    printWords();
    printSharedState();
    RoomFigures.print(roots, out);
  }

  private static <T> String row(List<T> versions, ToLongFunction<T> figure) {
    return String.join(" → ", versions.stream().map(version -> "" + figure.applyAsLong(version)).toList());
  }

  private void printWords() throws IOException {
    List<Map<String, Long>> counts = new ArrayList<>();
    for (Path root : roots) {
      Map<String, Long> count = new TreeMap<>();
      for (Path file : SourceFiles.below(root)) {
        GoneWord.uses(words, file, SourceFiles.read(file))
            .forEach(use -> count.merge(use.word().phrase(), 1L, Long::sum));
      }
      counts.add(count);
    }
    out.printf("%nUses of words that are gone:%n");
    for (GoneWord word : words) {
      String uses = row(counts, count -> count.getOrDefault(word.phrase(), 0L));
      if (!uses.matches("[0 →]*")) {
        out.printf("%14s  %s (say: %s)%n", uses, word.phrase(), word.instead());
      }
    }
  }

  private void printSharedState() throws IOException {
    for (Path root : roots) {
      Path sources = root.resolve("pipeline/src/main/java");
      if (Files.isDirectory(sources)) {
        Map<String, Set<String>> writers = SharedState.writers(sources, "io.penstock.tier");
        out.printf("%nClasses of tier with fields that other classes may assign: %d (%s)%n", writers.size(), root);
        writers.entrySet().stream().filter(entry -> !entry.getValue().isEmpty())
            .forEach(entry -> out.printf("%14d  %s: %s%n", entry.getValue().size(), entry.getKey(),
                String.join(", ", entry.getValue())));
      }
    }
  }
}
