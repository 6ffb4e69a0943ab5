package io.penstock.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The files of main code as a graph: an arrow leads from a file to each file whose type it names in code.
///
/// A name is resolved as the compiler does: types of the file itself, imports, then types of the package. Comments and
/// strings do not count. A file stands for its top-level type.
final class SourceGraph {
  private static final Pattern NOT_CODE =
      Pattern.compile("\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])+'|//[^\n]*|/\\*.*?\\*/",
          Pattern.DOTALL);
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?([\\w.]+?)\\.?(\\*)?;");
  private static final Pattern DECLARED = Pattern.compile("\\b(?:class|interface|record|enum) (\\p{Lu}\\w*)");
  private static final Pattern NAME = Pattern.compile("(?<![\\w.])\\p{Lu}\\w*");
  private static final Pattern FULL_NAME = Pattern.compile("\\bio\\.penstock(?:\\.[a-z]\\w*)*\\.\\p{Lu}\\w*");
  private static final Pattern MAIN = Pattern.compile("\\bstatic void main\\(|(?m)^void main\\(");

  private final Map<String, Set<String>> arrows = new TreeMap<>();
  private final Map<String, String> modules = new HashMap<>();
  private final Map<String, Long> lines = new HashMap<>();
  private final Set<String> programs = new TreeSet<>();

  private SourceGraph() {}

  /// Reads the main code of the repository at `root`.
  static SourceGraph of(Path root) throws IOException {
    SourceGraph graph = new SourceGraph();
    Map<String, String> texts = new TreeMap<>();
    for (Path file : SourceFiles.below(root)) {
      String place = root.relativize(file).toString();
      if (place.contains("src/main/java/") && place.endsWith(".java") && !place.endsWith("package-info.java")) {
        String name = place.replaceAll(".*src/main/java/|\\.java$", "").replace('/', '.');
        String text = SourceFiles.read(file);
        texts.put(name, NOT_CODE.matcher(text).replaceAll(" "));
        graph.modules.put(name, place.substring(0, place.indexOf("/src/main/java/")));
        graph.lines.put(name, text.lines().count());
      }
    }
    texts.forEach((name, text) -> {
      graph.arrows.put(name, targets(name, text, texts.keySet()));
      if (MAIN.matcher(text).find()) {
        graph.programs.add(name);
      }
    });
    return graph;
  }

  private static Set<String> targets(String file, String text, Set<String> files) {
    Map<String, String> inSight = new HashMap<>();
    String room = PACKAGE.matcher(text).results().findFirst().map(found -> found.group(1)).orElse("");
    for (String other : files) {
      if (roomOf(other).equals(room)) {
        inSight.put(nameOf(other), other);
      }
    }
    IMPORT.matcher(text).results().filter(found -> found.group(2) == null)
        .forEach(found -> top(found.group(1), files).ifPresentOrElse(
            top -> inSight.put(found.group(1).endsWith(nameOf(top)) ? nameOf(top) : lastOf(found.group(1)), top),
            () -> inSight.remove(lastOf(found.group(1)))));
    DECLARED.matcher(text).results().forEach(found -> inSight.remove(found.group(1)));

    Set<String> targets = new TreeSet<>();
    IMPORT.matcher(text).results().forEach(found -> top(found.group(1), files).ifPresent(targets::add));
    FULL_NAME.matcher(text).results().forEach(found -> top(found.group(), files).ifPresent(targets::add));
    NAME.matcher(IMPORT.matcher(text).replaceAll("")).results().map(found -> inSight.get(found.group()))
        .filter(found -> found != null).forEach(targets::add);
    targets.remove(file);
    return targets;
  }

  /// The file that declares `name`, which may be a nested type or a member.
  private static Optional<String> top(String name, Set<String> files) {
    for (String each = name; each.contains("."); each = each.substring(0, each.lastIndexOf('.'))) {
      if (files.contains(each)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  private static String lastOf(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  static String nameOf(String file) {
    return lastOf(file);
  }

  static String roomOf(String file) {
    return file.substring(0, file.lastIndexOf('.'));
  }

  /// The files, by the name of their top-level type.
  Set<String> files() {
    return arrows.keySet();
  }

  /// Lines of main code in `module`; of all modules if it is empty.
  long lines(String module) {
    return lines.entrySet().stream().filter(line -> module.isEmpty() || modules.get(line.getKey()).equals(module))
        .mapToLong(Map.Entry::getValue).sum();
  }

  /// Files in each package.
  Map<String, Long> rooms() {
    return arrows.keySet().stream().collect(Collectors.groupingBy(SourceGraph::roomOf, TreeMap::new,
        Collectors.counting()));
  }

  /// Cycles of files whose packages begin with `prefix`, the largest first.
  List<Set<String>> cycles(String prefix) {
    Map<String, Set<String>> part = new TreeMap<>();
    arrows.forEach((from, to) -> {
      if (from.startsWith(prefix)) {
        part.put(from, to.stream().filter(each -> each.startsWith(prefix)).collect(Collectors.toSet()));
      }
    });
    return cyclesOf(part);
  }

  /// Cycles of packages, the largest first.
  List<Set<String>> roomCycles() {
    Map<String, Set<String>> rooms = new TreeMap<>();
    arrows.forEach((from, to) -> to.forEach(each -> {
      rooms.computeIfAbsent(roomOf(from), room -> new TreeSet<>()).add(roomOf(each));
      rooms.computeIfAbsent(roomOf(each), room -> new TreeSet<>());
    }));
    return cyclesOf(rooms);
  }

  /// Arrows from a file to a file of a later layer.
  ///
  /// @param layers the layer of a file, by its simple name; files without one are left out
  List<String> arrowsBack(Map<String, Integer> layers, String prefix) {
    List<String> back = new ArrayList<>();
    arrows.forEach((from, to) -> {
      Integer layer = from.startsWith(prefix) ? layers.get(nameOf(from)) : null;
      for (String each : to) {
        Integer other = each.startsWith(prefix) ? layers.get(nameOf(each)) : null;
        if (layer != null && other != null && other > layer) {
          back.add(nameOf(from) + " > " + nameOf(each));
        }
      }
    });
    return back;
  }

  /// Files that no program reaches, and no type that `listed` names.
  Set<String> unreached(Collection<String> listed) {
    Deque<String> open = new ArrayDeque<>(programs);
    listed.stream().filter(arrows::containsKey).forEach(open::add);
    Set<String> reached = new HashSet<>(open);
    while (!open.isEmpty()) {
      for (String each : arrows.get(open.remove())) {
        if (reached.add(each)) {
          open.add(each);
        }
      }
    }
    Set<String> rest = new TreeSet<>(arrows.keySet());
    rest.removeAll(reached);
    return rest;
  }

  /// Files by the number of files that they name, the largest first.
  List<Map.Entry<String, Integer>> widest(int most) {
    return arrows.entrySet().stream().map(each -> Map.entry(each.getKey(), each.getValue().size()))
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed()).limit(most).toList();
  }

  /// Strongly connected parts of more than one node, found by the algorithm of `Tarjan` (1972).
  static List<Set<String>> cyclesOf(Map<String, Set<String>> graph) {
    return new Tarjan(graph).cycles();
  }

  /// The types that users see, by the list of each module.
  static Set<String> listed(Path root) throws IOException {
    Set<String> listed = new TreeSet<>();
    for (String module : List.of("pipeline", "rsocket-api/wire", "storage-tier", "device-bridge")) {
      Path list = root.resolve(module).resolve("src/main/module/public-types.txt");
      boolean isForUsers = false;
      for (String line : Files.exists(list) ? Files.readAllLines(list) : List.<String>of()) {
        isForUsers = line.startsWith("#") ? line.startsWith("# For") : isForUsers;
        if (isForUsers && !line.startsWith("#")) {
          listed.add(line);
        }
      }
    }
    return listed;
  }

  /// The number of public types that the list of `module` counts for users; `?` if the list does not count.
  static String forUsers(Path module) {
    Path list = module.resolve("src/main/module/public-types.txt");
    String text = Files.exists(list) ? SourceFiles.read(list) : "";
    return Pattern.compile("# For users: (\\d+)").matcher(text).results().findFirst().map(found -> found.group(1))
        .orElse("?");
  }

  private static final class Tarjan {
    private final Map<String, Set<String>> graph;
    private final Map<String, Integer> index = new HashMap<>();
    private final Map<String, Integer> low = new HashMap<>();
    private final Deque<String> stack = new ArrayDeque<>();
    private final Set<String> onStack = new HashSet<>();
    private final List<Set<String>> found = new ArrayList<>();

    Tarjan(Map<String, Set<String>> graph) {
      this.graph = graph;
    }

    List<Set<String>> cycles() {
      graph.keySet().stream().filter(node -> !index.containsKey(node)).forEach(this::visit);
      found.sort((a, b) -> b.size() - a.size());
      return found;
    }

    private void visit(String node) {
      index.put(node, index.size());
      low.put(node, index.get(node));
      stack.push(node);
      onStack.add(node);
      for (String next : graph.getOrDefault(node, Set.of())) {
        if (!index.containsKey(next)) {
          visit(next);
          low.merge(node, low.get(next), Math::min);
        } else if (onStack.contains(next)) {
          low.merge(node, index.get(next), Math::min);
        }
      }
      if (low.get(node).equals(index.get(node))) {
        Set<String> part = new TreeSet<>();
        String each;
        do {
          each = stack.pop();
          onStack.remove(each);
          part.add(each);
        } while (!each.equals(node));
        if (part.size() > 1) {
          found.add(part);
        }
      }
    }
  }
}
