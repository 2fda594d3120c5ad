//! Closed vocabularies: enums whose members have one spelling everywhere.

/// A word that its vocabulary does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {}", .known.join(", "))]
pub struct UnknownWord {
    /// What was written.
    pub word: String,
    /// What could have been written.
    pub known: &'static [&'static str],
}

/// An enum whose members are spelt one way in code, files, SQL, REST, UI and logs.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every member, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// Every spelling, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($text,)+];

            /// The one spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($text => Ok($name::$variant),)+
                    _ => Err($crate::UnknownWord { word: word.to_owned(), known: $name::WORDS }),
                }
            }
        }
    };
}

pub(crate) use words;
