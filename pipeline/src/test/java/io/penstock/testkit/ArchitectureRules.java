package io.penstock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/// Which package may import which, checked on class files, so that a name in a descriptor counts as much as one in
/// code.
///
/// A *wing* is a package below `io.penstock` with the packages below it; every wing may import the root package. An
/// arrow from a wing says what it may import. Arrows are transitive. Another module sees only the packages that the
/// descriptor of the kernel exports to it: the build compiles on the class path, where descriptors do not count.
public final class ArchitectureRules {
  private static final Path MODULE = Path.of(System.getProperty("basedir", ""));
  private static final String ROOT = "io.penstock";
  private static final Set<String> PUBLISHERS = Set.of("reactor.core.publisher.Flux", "reactor.core.publisher.Mono");

  /// Operators that lose requests and cancels, see `InTurn`.
  private static final Set<String> CONCATENATING =
      Set.of("concat", "concatWith", "concatWithValues", "startWith", "thenMany");

  /// The wings of the kernel's module.
  private static final Set<String> KERNEL =
      Set.of("flow", "stage", "disagg", "tier", "stack", "pool", "carrier", "block", "budget",
          "operator", "check", "system", "meter", "recording");

  private static final Set<String> SHARED = Set.of("boundedElastic", "parallel", "single");

  private final Map<String, Set<String>> arrows = new HashMap<>();
  private final Map<String, Set<String>> libraries = new HashMap<>();
  private final Map<String, Set<String>> confined = new HashMap<>();
  private final Set<String> reactive = new HashSet<>();
  private final Exports kernel;
  private final Set<String> hidden;

  private ArchitectureRules(Exports kernel, Set<String> hidden) {
    this.kernel = kernel;
    this.hidden = hidden;
  }

  /// The rules of this house.
  ///
  /// @return a checker of any module's classes
  public static ArchitectureRules house() {
    return with(Exports.ofKernel(MODULE), PublicTypes.hiddenFrom(MODULE));
  }

  /// @param hidden top-level types that other modules keep to themselves
  static ArchitectureRules with(Exports exports, Set<String> hidden) {
    String[] kernel = KERNEL.toArray(String[]::new);
    return new ArchitectureRules(exports, hidden)
        .arrow("check")
        .arrow("operator", "check", "system")
        .arrow("system", "check")
        .arrow("budget", "check")
        .arrow("block", "system", "budget")
        .arrow("carrier", "block")
        .arrow("pool", "block")
        .arrow("tier", "block", "operator")
        .arrow("stack", "tier", "pool")
        .arrow("stage", "tier")
        .arrow("disagg", "tier", "recording")
        .arrow("flow", "stage", "disagg")
        .arrow("recording", "tier")
        .arrow("meter", "flow", "pool")
        .arrow("wire", kernel)
        .arrow("storage", kernel)
        .arrow("device", kernel)
        .arrow("node", "wire", "storage", "device")
        .arrow("lab", "node", "cluster")
        .arrow("gateway", "node")
        .arrow("cluster", "node")
        .arrow("resp", "node")
        .arrow("s3", "node")
        .arrow("examples", "node")
        .arrow("testkit", kernel)
        .only("io.micrometer", "meter", "node", "gateway", "examples")
        .only("io.netty", "wire", "node", "lab", "gateway", "resp", "s3", "examples")
        .only("io.rsocket", "wire", "node", "lab", "resp", "examples")
        .only("reactor.netty", "wire", "node", "lab", "gateway", "resp", "s3", "examples")
        .only("net.openhft", "storage")
        .only("software.amazon", "s3")
        .only("org.infinispan", "cluster")
        .only("org.jgroups", "cluster")
        .only("java.lang.foreign.Linker", "system", "device.ascend")
        .only("java.lang.foreign.SymbolLookup", "system", "device.ascend")
        .only("jnr")
        .only("sun.misc")
        .confine("check", "java.", "org.jspecify.")
        .confine("budget", "java.", "org.jspecify.", "com.google.errorprone.annotations.")
        .confine("block", "java.", "org.jspecify.", "com.google.errorprone.annotations.")
        .confine("carrier", "java.", "org.jspecify.", "com.google.errorprone.annotations.")
        .confine("system", "java.", "org.jspecify.")
        .injectSchedulers("stage", "disagg", "flow", "tier", "stack", "pool", "wire", "storage", "device",
            "cluster", "resp");
  }

  /// Wings of the kernel that have no class in `packages`, which would make the rules speak of nothing.
  ///
  /// @param packages names of the kernel's packages
  public static List<String> emptyWings(Set<String> packages) {
    return KERNEL.stream().filter(wing -> packages.stream().noneMatch(each -> isBelow(each, ROOT + "." + wing)))
        .sorted().toList();
  }

  /// Lists every broken rule in the main classes of the module under test.
  ///
  /// @return the violations, one line each, in a fixed order; empty if the house stands
  /// @throws IllegalStateException if there are no classes, for then nothing was checked
  public List<String> violationsInMain() {
    return violationsIn(MODULE.resolve("target/classes"));
  }

  List<String> violationsIn(Path classes) {
    List<ClassReferences> found = read(classes);
    if (found.isEmpty()) {
      throw new IllegalStateException("classes must be found below " + classes);
    }
    return found.stream().flatMap(this::violations).sorted().toList();
  }

  private static List<ClassReferences> read(Path classes) {
    try (Stream<Path> files = Files.walk(classes)) {
      List<ClassReferences> found = new ArrayList<>();
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        found.add(ClassReferences.of(ClassFile.of().parse(file)));
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ArchitectureRules arrow(String from, String... to) {
    Set<String> reached = arrows.computeIfAbsent(from, wing -> new TreeSet<>());
    for (String wing : to) {
      reached.add(wing);
      reached.addAll(arrows.getOrDefault(wing, Set.of()));
    }
    return this;
  }

  /// @param packages below the root, with those below them
  private ArchitectureRules only(String library, String... packages) {
    libraries.put(library, Set.of(packages));
    return this;
  }

  private ArchitectureRules confine(String wing, String... prefixes) {
    confined.put(wing, Set.of(prefixes));
    return this;
  }

  private ArchitectureRules injectSchedulers(String... wings) {
    reactive.addAll(List.of(wings));
    return this;
  }

  private Stream<String> violations(ClassReferences from) {
    String wing = wing(from.name());
    if (!wing.isEmpty() && !arrows.containsKey(wing)) {
      return Stream.of(from.name() + " is in no wing of the house");
    }
    Stream<String> names =
        from.classes().stream()
            .filter(name -> !mayName(from.name(), wing, name))
            .map(name -> from.name() + " must not import " + name);
    Stream<String> calls =
        from.members().stream()
            .filter(call -> reactive.contains(wing) && picksScheduler(call))
            .map(call -> from.name() + " must be given the scheduler of " + call);
    Stream<String> concatenations =
        from.members().stream()
            .filter(call -> PUBLISHERS.contains(call.owner()) && CONCATENATING.contains(call.name()))
            .map(call -> from.name() + " must put streams in turn with InTurn, not " + call);
    Stream<String> hidden =
        from.classes().stream().filter(name -> isHidden(from.name(), name))
            .map(name -> from.name() + " must not see " + name + ", whose package is not exported to its module");
    Stream<String> kept =
        from.classes().stream().filter(name -> this.hidden.contains(topOf(name)))
            .map(name -> from.name() + " must not see " + name + ", which is public only between rooms of its module");
    return Stream.of(names, calls, concatenations, hidden, kept).flatMap(each -> each);
  }

  private boolean mayName(String className, String from, String name) {
    if (isBelow(name, ROOT)) {
      String to = wing(name);
      return to.isEmpty() || to.equals(from) || arrows.getOrDefault(from, Set.of()).contains(to);
    }
    boolean admitted =
        libraries.entrySet().stream()
            .filter(rule -> isBelow(name, rule.getKey()))
            .allMatch(rule -> rule.getValue().stream().anyMatch(each -> isBelow(className, ROOT + "." + each)));
    Set<String> prefixes = confined.getOrDefault(from, Set.of(""));
    return admitted && prefixes.stream().anyMatch(name::startsWith);
  }

  /// Whether `name` is a type of the kernel that the module of `className` must not use.
  private boolean isHidden(String className, String name) {
    return isBelow(name, ROOT) && isOfKernel(name) && !isOfKernel(className)
        && !kernel.isOpenTo(ROOT + "." + wing(className), name.substring(0, name.lastIndexOf('.')));
  }

  private static String topOf(String className) {
    return className.split("\\$", 2)[0];
  }

  private static boolean isOfKernel(String className) {
    String wing = wing(className);
    return wing.isEmpty() || KERNEL.contains(wing);
  }

  /// Whether a call runs on a scheduler that its caller did not choose: a shared one of Reactor's, or an operator of
  /// time that falls back to one.
  private static boolean picksScheduler(ClassReferences.Member call) {
    boolean shared = call.owner().equals("reactor.core.scheduler.Schedulers") && SHARED.contains(call.name());
    boolean timed = PUBLISHERS.contains(call.owner()) && call.descriptor().contains("Ljava/time/Duration;");
    return shared || (timed && !call.descriptor().contains("Lreactor/core/scheduler/Scheduler;"));
  }

  /// The wing of a class: the part of its package after the root, or nothing for the root package.
  private static String wing(String className) {
    String below = className.substring(ROOT.length() + 1);
    int dot = below.indexOf('.');
    return dot < 0 ? "" : below.substring(0, dot);
  }

  private static boolean isBelow(String name, String prefix) {
    return name.equals(prefix) || name.startsWith(prefix + ".") || name.startsWith(prefix + "$");
  }
}
