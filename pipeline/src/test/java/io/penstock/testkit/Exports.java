package io.penstock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/// The packages that one module exports, and the modules to which it exports each.
///
/// @param module its name; empty if it has no descriptor, and so exports every package to every module
/// @param packages the modules that may use a package; empty for every module
record Exports(String module, Map<String, Set<String>> packages) {
  private static final String KERNEL = "pipeline";

  private static final Path DESCRIPTOR = Path.of("src/main/module/module-info.java");
  private static final Pattern NAME = Pattern.compile("(?m)^module ([\\w.]+)");
  private static final Pattern EXPORT = Pattern.compile("exports ([\\w.]+)(?: to ([\\w.,\\s]+))?;");

  /// Of the module in `folder`.
  static Exports of(Path folder) {
    Path descriptor = folder.resolve(DESCRIPTOR);
    return Files.exists(descriptor) ? parse(read(descriptor)) : new Exports("", Map.of());
  }

  /// Of the kernel, whichever module of the repository is under test.
  static Exports ofKernel(Path folder) {
    return of(repository(folder).resolve(KERNEL));
  }

  /// The folder of the repository that `folder` lies in.
  static Path repository(Path folder) {
    Path root = folder.toAbsolutePath().normalize();
    while (!Files.isDirectory(root.resolve(KERNEL))) {
      root = root.getParent();
    }
    return root;
  }

  static Exports parse(String descriptor) {
    Map<String, Set<String>> packages = new HashMap<>();
    EXPORT.matcher(descriptor).results().forEach(export -> packages.put(export.group(1), modules(export)));
    String name = NAME.matcher(descriptor).results().findFirst().orElseThrow().group(1);
    return new Exports(name, packages);
  }

  private static Set<String> modules(MatchResult export) {
    String names = export.group(2);
    return names == null ? Set.of() : Set.copyOf(List.of(names.strip().split(",\\s*")));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Whether `user`, another module, may use `packageName`.
  boolean isOpenTo(String user, String packageName) {
    Set<String> users = packages.get(packageName);
    return module.isEmpty() || (users != null && (users.isEmpty() || users.contains(user)));
  }

  /// Who may meet the public types of `packageName`; a type may have a smaller audience.
  Audience audience(String packageName) {
    Set<String> users = packages.get(packageName);
    if (users == null && !module.isEmpty()) {
      return Audience.OWN_MODULE;
    }
    if (module.isEmpty() || users.isEmpty()) {
      return packageName.endsWith(".spi")
          ? Audience.IMPLEMENTERS
          : packageName.endsWith(".disagg") ? Audience.ENGINES : Audience.USERS;
    }
    return Audience.OUR_MODULES;
  }

  /// Who meets a type.
  enum Audience {
    USERS("For users"),
    IMPLEMENTERS("For authors of stores and tiers"),
    ENGINES("For authors of engines"),
    OUR_MODULES("Shared among the modules of this project"),
    /// Public because another room of its module needs it.
    OWN_MODULE("Between the rooms of this module");

    private final String title;

    Audience(String title) {
      this.title = title;
    }

    @Override
    public String toString() {
      return title;
    }
  }
}
