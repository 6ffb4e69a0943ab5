package io.penstock.testkit;

import io.penstock.testkit.Exports.Audience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The public face of the module under test: a list that is reviewed, and what its main classes say.
public final class PublicTypes {
  private static final Path MODULE = Path.of(System.getProperty("basedir", ""));

  private PublicTypes() {}

  /// The public top-level types in the main classes: for each audience a heading, then the names in alphabetical order.
  ///
  /// @throws IllegalStateException if there are none, since nothing was compared then
  public static List<String> inMain() {
    List<String> lines = new ArrayList<>();
    for (Audience audience : Audience.values()) {
      List<String> names = inMain(audience);
      if (!names.isEmpty()) {
        lines.add("# " + audience);
        lines.addAll(names);
      }
    }
    return lines;
  }

  /// Names of the public top-level types in the packages that the module exports to all, without those of an SPI.
  public static List<String> forUsers() {
    return inMain(Audience.USERS);
  }

  private static List<String> inMain(Audience audience) {
    Exports exports = Exports.of(MODULE);
    return inClasses(MODULE.resolve("target/classes")).stream()
        .filter(name -> exports.audience(name.substring(0, name.lastIndexOf('.'))) == audience).toList();
  }

  /// The lines of `src/main/module/public-types.txt`.
  public static List<String> listed() {
    try {
      return Files.readAllLines(MODULE.resolve("src/main/module/public-types.txt"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> inClasses(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      List<String> found = files.filter(PublicTypes::isTopLevel).map(PublicTypes::parse).filter(PublicTypes::isPublic)
          .map(type -> type.thisClass().asInternalName().replace('/', '.')).sorted().toList();
      if (found.isEmpty()) {
        throw new IllegalStateException("public types must be found below " + folder);
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isTopLevel(Path file) {
    String name = file.getFileName().toString();
    return name.endsWith(".class") && !name.contains("$") && !name.equals("module-info.class");
  }

  private static ClassModel parse(Path file) {
    try {
      return ClassFile.of().parse(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isPublic(ClassModel type) {
    return type.flags().has(AccessFlag.PUBLIC);
  }
}
