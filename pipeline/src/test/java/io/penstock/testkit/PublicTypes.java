package io.penstock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The public face of the module under test: a list that is reviewed, and what its main classes say.
public final class PublicTypes {
  private static final Path MODULE = Path.of(System.getProperty("basedir", ""));

  private PublicTypes() {}

  /// Names of the public top-level types in the main classes, in alphabetical order.
  ///
  /// @throws IllegalStateException if there are none, since nothing was compared then
  public static List<String> inMain() {
    return inClasses(MODULE.resolve("target/classes"));
  }

  /// Names in `src/main/module/public-types.txt`, a line each.
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
