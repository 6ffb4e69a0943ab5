package io.penstock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/// Checks the rooms of the module under test. A room is a package: it has at most thirty top-level types and lies in no
/// cycle with others. There is no list of exceptions.
public final class Rooms {
  private static final int MOST_TYPES = 30;
  private static final Path MODULE = Path.of(System.getProperty("basedir", ""));

  private final Map<String, Set<String>> types = new TreeMap<>();
  private final Map<String, Set<String>> arrows = new TreeMap<>();

  private Rooms() {}

  /// What the main classes of the module break.
  ///
  /// @throws IllegalStateException if there are no classes, for then nothing was checked
  public static List<String> violationsInMain() {
    return violationsIn(MODULE.resolve("target/classes"));
  }

  /// The packages of the module's main classes.
  public static Set<String> inMain() {
    return of(MODULE.resolve("target/classes")).types.keySet();
  }

  static List<String> violationsIn(Path classes) {
    return of(classes).violations();
  }

  private static Rooms of(Path classes) {
    Rooms rooms = new Rooms();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        rooms.add(ClassReferences.of(ClassFile.of().parse(file)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (rooms.types.isEmpty()) {
      throw new IllegalStateException("classes must be found below " + classes);
    }
    return rooms;
  }

  private List<String> violations() {
    List<String> violations = new ArrayList<>();
    types.forEach((room, names) -> {
      if (names.size() > MOST_TYPES) {
        violations.add("%s has %d types".formatted(room, names.size()));
      }
    });
    inCycles().forEach(room -> violations.add(room + " lies in a cycle"));
    return violations;
  }

  private void add(ClassReferences from) {
    String top = from.name().split("\\$", 2)[0];
    if (top.endsWith("-info")) {
      return;
    }
    String room = roomOf(top);
    types.computeIfAbsent(room, name -> new TreeSet<>()).add(top);
    arrows.computeIfAbsent(room, name -> new TreeSet<>()).addAll(from.classes().stream().map(Rooms::roomOf).toList());
  }

  /// The rooms in cycles, and rooms that lie between two cycles: what is left when rooms without an arrow out, or
  /// without an arrow in, are taken away until there are none.
  private Set<String> inCycles() {
    Map<String, Set<String>> rest = new TreeMap<>();
    arrows.forEach((room, to) -> {
      Set<String> own = new TreeSet<>(to);
      own.retainAll(arrows.keySet());
      own.remove(room);
      rest.put(room, own);
    });
    boolean changed = true;
    while (changed) {
      Set<String> entered = new TreeSet<>();
      rest.values().forEach(entered::addAll);
      changed = rest.entrySet().removeIf(room -> room.getValue().isEmpty() || !entered.contains(room.getKey()));
      rest.values().forEach(to -> to.retainAll(rest.keySet()));
    }
    return rest.keySet();
  }

  private static String roomOf(String className) {
    return className.substring(0, Math.max(0, className.lastIndexOf('.')));
  }
}
