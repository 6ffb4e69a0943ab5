package io.penstock.figures;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/// Prints how the rooms of one or more versions of the repository lie: files a package, cycles, arrows that run back,
/// and code that no program reaches.
final class RoomFigures {
  private static final int MOST_FILES = 30;
  private static final List<String> NODE = List.of("rsocket-api/node", "rsocket-api/lab");

  /// The layers of the stack, from the port up to the face; an arrow may only lead to an earlier one.
  private static final List<Set<String>> LAYERS = List.of(Set.of("io.penstock.tier", "io.penstock.tier.spi"),
      Set.of("io.penstock.stack.decision"), Set.of("io.penstock.stack.ledger"), Set.of("io.penstock.stack.move"),
      Set.of("io.penstock.stack.hold"), Set.of("io.penstock.stack.read", "io.penstock.stack.write"),
      Set.of("io.penstock.stack"));

  private final List<Path> roots;
  private final List<SourceGraph> graphs;
  private final List<Set<String>> listed;
  private final PrintStream out;

  private RoomFigures(List<Path> roots, List<SourceGraph> graphs, List<Set<String>> listed, PrintStream out) {
    this.roots = roots;
    this.graphs = graphs;
    this.listed = listed;
    this.out = out;
  }

  static void print(List<Path> roots, PrintStream out) throws IOException {
    List<SourceGraph> graphs = new ArrayList<>();
    List<Set<String>> listed = new ArrayList<>();
    for (Path root : roots) {
      graphs.add(SourceGraph.of(root));
      listed.add(SourceGraph.listed(root));
    }
    new RoomFigures(roots, graphs, listed, out).print();
  }

  private void print() {
    Map<String, Integer> layers = layers(graphs.getLast());
    out.printf("%nRooms:%n");
    row("main lines", graph -> graph.lines(""));
    for (String module : NODE) {
      row("main lines of " + module, graph -> graph.lines(module));
    }
    row("packages above " + MOST_FILES + " files", graph -> above(graph).size());
    row("cycles of packages", graph -> graph.roomCycles().size());
    row("packages in the largest of them", graph -> largest(graph.roomCycles()));
    row("files in the largest cycle of tier and stack",
        graph -> Math.max(largest(graph.cycles("io.penstock.tier")), largest(graph.cycles("io.penstock.stack"))));
    row("files in the largest cycle", graph -> largest(graph.cycles("io.penstock")));
    row("arrows of tier and stack that run back",
        graph -> graph.arrowsBack(layers, "io.penstock.tier").size()
            + graph.arrowsBack(layers, "io.penstock.stack").size());
    row("files that no program or user reaches", graph -> graph.unreached(listed.get(graphs.indexOf(graph))).size());
    row("files that no program reaches", graph -> graph.unreached(Set.of()).size());
    printPublicTypes();

    SourceGraph last = graphs.getLast();
    details("Packages above " + MOST_FILES + " files", above(last));
    details("Cycles of packages", last.roomCycles().stream().map(Object::toString).toList());
    details("Files that no program or user reaches", new ArrayList<>(last.unreached(listed.getLast())));
    Set<String> unused = new TreeSet<>(last.unreached(Set.of()));
    unused.removeAll(last.unreached(listed.getLast()));
    details("Files that users are offered and no program reaches", new ArrayList<>(unused));
    details("Files that name the most others",
        last.widest(10).stream().map(each -> each.getValue() + "  " + each.getKey()).toList());
  }

  private void printPublicTypes() {
    for (String module : List.of("pipeline", "rsocket-api/wire")) {
      out.printf("%-48s %s%n", "public types of " + module + " for users, nested ones too", String.join(" → ",
          roots.stream().map(root -> SourceGraph.forUsers(root.resolve(module))).toList()));
    }
  }

  private void row(String name, ToLongFunction<SourceGraph> figure) {
    out.printf("%-48s %s%n", name, String.join(" → ",
        graphs.stream().map(graph -> String.valueOf(figure.applyAsLong(graph))).toList()));
  }

  private void details(String title, List<String> lines) {
    if (!lines.isEmpty()) {
      out.printf("%n%s:%n", title);
      lines.forEach(line -> out.println("  " + line));
    }
  }

  private static List<String> above(SourceGraph graph) {
    return graph.rooms().entrySet().stream().filter(room -> room.getValue() > MOST_FILES)
        .map(room -> room.getValue() + "  " + room.getKey()).toList();
  }

  private static int largest(List<Set<String>> cycles) {
    return cycles.isEmpty() ? 1 : cycles.getFirst().size();
  }

  /// The layer of each file of the stack in `graph`, by its simple name, so that an older version can be compared.
  private static Map<String, Integer> layers(SourceGraph graph) {
    Map<String, Integer> layers = new HashMap<>();
    for (String file : new TreeSet<>(graph.files())) {
      for (int i = 0; i < LAYERS.size(); i++) {
        if (LAYERS.get(i).contains(SourceGraph.roomOf(file))) {
          layers.put(SourceGraph.nameOf(file), i);
        }
      }
    }
    return layers;
  }
}
