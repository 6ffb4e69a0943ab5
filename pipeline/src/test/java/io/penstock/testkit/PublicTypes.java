package io.penstock.testkit;

import io.penstock.testkit.Exports.Audience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.InnerClassInfo;
import java.lang.classfile.attribute.InnerClassesAttribute;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The public face of the module under test: a list that is reviewed, and what its main classes say.
///
/// The list, `src/main/module/public-types.txt`, has a heading for each audience, which counts nested public types,
/// and below it the names of top-level types. A package that is open to all may hold types for a smaller audience.
public final class PublicTypes {
  private static final Path MODULE = Path.of(System.getProperty("basedir", ""));
  private static final Path LIST = Path.of("src/main/module/public-types.txt");

  private PublicTypes() {}

  /// The public types in the main classes, in the form of the list. A type that the list does not have stands below the
  /// widest audience that its package admits.
  ///
  /// @throws IllegalStateException if there are none, since nothing was compared then
  public static List<String> inMain() {
    Exports exports = Exports.of(MODULE);
    Map<String, Audience> listed = audiences(read(MODULE.resolve(LIST)));
    Map<Audience, List<PublicType>> found = inClasses(MODULE.resolve("target/classes")).stream()
        .collect(Collectors.groupingBy(type -> type.audience(exports, listed)));
    List<String> lines = new ArrayList<>();
    for (Audience audience : Audience.values()) {
      List<PublicType> types = found.getOrDefault(audience, List.of());
      if (!types.isEmpty()) {
        lines.add("# %s: %d with nested types".formatted(audience, types.stream().mapToInt(PublicType::size).sum()));
        types.forEach(type -> lines.add(type.name()));
      }
    }
    return lines;
  }

  /// The lines of the list.
  public static List<String> listed() {
    return read(MODULE.resolve(LIST));
  }

  /// Names of the listed top-level types that users meet.
  public static List<String> forUsers() {
    return audiences(listed()).entrySet().stream().filter(type -> type.getValue() == Audience.USERS)
        .map(Map.Entry::getKey).sorted().toList();
  }

  /// Names of top-level types that other modules than that of `folder` keep to themselves.
  static Set<String> hiddenFrom(Path folder) {
    Path own = folder.toAbsolutePath().normalize().resolve(LIST);
    try (Stream<Path> files = Files.walk(Exports.repository(folder), 3)) {
      return files.filter(file -> Files.exists(file.resolve("pom.xml"))).map(module -> module.resolve(LIST))
          .filter(list -> Files.exists(list) && !list.equals(own))
          .flatMap(list -> audiences(read(list)).entrySet().stream())
          .filter(type -> type.getValue() == Audience.OWN_MODULE).map(Map.Entry::getKey)
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> read(Path list) {
    try {
      return Files.readAllLines(list);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Audience> audiences(List<String> list) {
    Map<String, Audience> audiences = new HashMap<>();
    Audience audience = Audience.USERS;
    for (String line : list) {
      if (line.startsWith("# ")) {
        audience = Stream.of(Audience.values()).filter(each -> line.startsWith("# " + each)).findFirst()
            .orElseThrow(() -> new IllegalStateException("heading must name an audience (was " + line + ")"));
      } else {
        audiences.put(line, audience);
      }
    }
    return audiences;
  }

  /// One public top-level type.
  ///
  /// @param size one, and one more for each public type that is nested in it
  record PublicType(String name, int size) {
    Audience audience(Exports exports, Map<String, Audience> listed) {
      Audience widest = exports.audience(name.substring(0, name.lastIndexOf('.')));
      Audience wanted = listed.getOrDefault(name, widest);
      return wanted.compareTo(widest) < 0 ? widest : wanted;
    }
  }

  static List<PublicType> inClasses(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      List<ClassModel> models = files.filter(file -> file.toString().endsWith(".class")).map(PublicTypes::parse)
          .toList();
      Set<String> open = models.stream().filter(PublicTypes::isPublic).map(PublicTypes::nameOf)
          .collect(Collectors.toSet());
      List<PublicType> found = open.stream().filter(name -> !name.contains("$")).sorted()
          .map(name -> new PublicType(name, (int) open.stream().filter(each -> isIn(each, name, open)).count()))
          .toList();
      if (found.isEmpty()) {
        throw new IllegalStateException("public types must be found below " + folder);
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Whether `name` is `top`, or public in it with all that lies between them.
  private static boolean isIn(String name, String top, Set<String> open) {
    return name.equals(top)
        || (name.startsWith(top + "$") && isIn(name.substring(0, name.lastIndexOf('$')), top, open)
            && open.contains(name));
  }

  private static ClassModel parse(Path file) {
    try {
      return ClassFile.of().parse(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String nameOf(ClassModel type) {
    return type.thisClass().asInternalName().replace('/', '.');
  }

  /// A nested type's own flags are in the list of inner classes; those of its class file say less.
  private static boolean isPublic(ClassModel type) {
    return type.findAttribute(Attributes.innerClasses()).map(InnerClassesAttribute::classes).stream()
        .flatMap(List::stream).filter(inner -> inner.innerClass().equals(type.thisClass())).findFirst()
        .map(PublicTypes::isPublicMember)
        .orElse(type.flags().has(AccessFlag.PUBLIC));
  }

  private static boolean isPublicMember(InnerClassInfo inner) {
    return inner.has(AccessFlag.PUBLIC) && inner.innerName().isPresent();
  }
}
